/** What this program is started with to be a service that nobody waits for. */
export const backgroundService = "__background"
