/** Why this node is not of use to the fleet, or the fleet to it. */
export type FleetTrouble =
  | "fleet-engine-unreachable"
  | "fleet-engine-unsafe"
  | "fleet-not-joined"
  | "fleet-name-taken"
  | "fleet-forgotten"

/** Completes "the fleet cannot place anything now: ". */
export const troubleText: Record<FleetTrouble, string> = {
  "fleet-engine-unreachable": "its engine cannot be reached",
  "fleet-engine-unsafe": "its engine may lose what it has acknowledged: see `cc-executor doctor`",
  "fleet-not-joined": "this node has not joined it yet",
  "fleet-name-taken": "another service has joined it by this node's name",
  "fleet-forgotten": "this node was forgotten: `cc-executor node undrain` takes it back",
}
