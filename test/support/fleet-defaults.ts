/** Of a service of its own. */
export const fleetDefaults = {
  fleet: null,
  nodeName: null,
  nodeLabels: null,
  advertise: null,
  fleetCredentials: null,
  fleetCa: null,
  fleetCert: null,
  fleetKey: null,
  fleetLostAfterMs: 60_000,
  fleetUnsafe: false,
}
