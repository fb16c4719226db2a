/** The client of both APIs as a trader uses it: what it notices of its hosts is told as events. */
import { type Api, type ApiOptions, createApi } from '../api/client.ts'
import type { Emit } from '../domain/event.ts'

/** Parts of a client, and the receiver of its hosts' events. */
export type VenueClientParts = Pick<
  ApiOptions,
  'chain' | 'hosts' | 'fetch' | 'clock' | 'random' | 'limits' | 'around'
> & {
  readonly emit: Emit
}

/** Makes the client. */
export function createVenueClient({ emit, ...options }: VenueClientParts): Api {
  return createApi({
    ...options,
    onAttempt: (attempt) => emit({ type: 'host.attempt', ...attempt }),
    onCooldown: (rest) => emit({ type: 'host.cooldown', ...rest }),
    onPrices: (prices) => emit({ type: 'host.prices', ...prices }),
    onMissing: (missing) => emit({ type: 'rows.missing', ...missing }),
    onForeign: (foreign) => emit({ type: 'rows.foreign', ...foreign }),
  })
}
