/** Difference between our clock and the venue's, by the clocks of all its hosts. */
import type { Api } from '../../api/client.ts'
import { medianSkewMs } from '../../domain/clockSkew.ts'

/** The hosts' clocks less ours, the median over all configured hosts of both services, ms; undefined before any was heard. */
export function hostsSkewMs(api: Api): number | undefined {
  const readingsMs = [...api.hosts.api, ...api.hosts.oracle].flatMap((host) => api.clockSkewMs(host) ?? [])
  return readingsMs.length === 0 ? undefined : medianSkewMs(readingsMs)
}
