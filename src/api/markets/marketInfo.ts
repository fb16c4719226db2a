/**
 * Configuration and values of markets, one row a market (docs/reference/api-coverage.md GET /markets/values and GET
 * /markets/config).
 */
import { rows } from '../rows/listRows.ts'
import { marketConfig, marketInfo, marketValues } from '../rows/marketInfoRow.ts'
import type { MarketConfig, MarketInfo, MarketValues } from '../rows/marketInfoTypes.ts'
import { createRowMemo, perTransport, type RowDecoder } from '../rows/rowMemo.ts'
import type { CallOptions, Read, Route, RouteQuery } from '../transport/route.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Rows of this API name their market by its token. */
const identity = 'marketTokenAddress'

function rowsDecoder<Row extends object>(
  decode: RowDecoder<Row>,
): (body: unknown, asked: RouteQuery<undefined>) => readonly Row[] {
  const row = createRowMemo({ identity, decode })
  return (body, asked) => rows(body, '', row, asked, { market: identity })
}

const configRoute = perTransport(
  (): Route<undefined, readonly MarketConfig[]> => ({
    path: '/markets/config',
    method: 'GET',
    service: 'api',
    kind: 'read',
    cacheMs: 30_000,
    decode: rowsDecoder(marketConfig),
  }),
)

const valuesRoute = perTransport(
  (): Route<undefined, readonly MarketValues[]> => ({
    path: '/markets/values',
    method: 'GET',
    service: 'api',
    kind: 'read',
    cacheMs: 1_000,
    decode: rowsDecoder(marketValues),
  }),
)

const infoRoute: Route<undefined, readonly MarketInfo[]> = {
  path: '/markets/info',
  method: 'GET',
  service: 'api',
  kind: 'read',
  cacheMs: 1_000,
  decode: (body, asked) => rows(body, '', marketInfo, asked, { market: identity }),
}

/** Settings of all markets (`GET /markets/config`). */
export function getMarketsConfig(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly MarketConfig[]>> {
  return transport.call(configRoute(transport), undefined, options)
}

/** Values of all markets (`GET /markets/values`). A 200 can carry old rows: look at `updatedAtMs`. */
export function getMarketsValues(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly MarketValues[]>> {
  return transport.call(valuesRoute(transport), undefined, options)
}

/** Settings and values of all markets in one snapshot (`GET /markets/info`). To poll, `/markets/values` is a third of it. */
export function getMarketsInfo(
  transport: Transport,
  options?: CallOptions,
): Promise<Read<readonly MarketInfo[]>> {
  return transport.call(infoRoute, undefined, options)
}
