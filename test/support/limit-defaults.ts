/** The limits of a service that was told of none. */
export const limitDefaults = {
  maxExecutionsPerPrincipal: 16,
  maxQueuePerPrincipal: 100,
  startsPerMinute: 600,
  maxWallTimeoutMs: null,
  maxOutputBytes: null,
  retainBytesPerPrincipal: 2_147_483_648,
  maxDiskBytes: null,
  limitMemoryBytes: null,
  limitCpus: null,
  limitPids: null,
}
