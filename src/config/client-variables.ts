/**
 * Read by the command line, not by the service. Those who run both with one environment need no
 * warning; a service that the command line starts does not get them, least of all the token.
 */
export const clientVariables = {
  url: "CC_EXECUTOR_URL",
  context: "CC_EXECUTOR_CONTEXT",
  token: "CC_EXECUTOR_TOKEN",
  tokenFile: "CC_EXECUTOR_TOKEN_FILE",
  caFile: "CC_EXECUTOR_CA_FILE",
  clientCertFile: "CC_EXECUTOR_CLIENT_CERT_FILE",
  clientKeyFile: "CC_EXECUTOR_CLIENT_KEY_FILE",
} as const

const names: ReadonlySet<string> = new Set(Object.values(clientVariables))

export function isClientVariable(name: string): boolean {
  return names.has(name)
}
