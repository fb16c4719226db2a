/** Where accounts are read and their orders taken (docs/reference/api-coverage.md GET /positions and POST /orders/txns/prepare). */

import { bodyOf, requiredAddress } from '../http/http.ts'
import { prepareApproval, subaccountStatus } from '../keeper/subaccountKeys.ts'
import { prepareCancel, prepareCollateral, prepareEdit } from '../prepare/prepareChanges.ts'
import { prepareDeposit } from '../requests/deposits.ts'
import {
  changeRoute,
  prepareRoute,
  relayStatusRoute,
  relaySubmitRoute,
  statusRoute,
  submitRoute,
} from '../requests/orderRoutes.ts'
import { prepareWithdrawal, submitWithdrawal, withdrawalStatus } from '../requests/withdrawals.ts'
import type { VenueParts } from '../venue/venueParts.ts'
import { orderByKey, orders } from './appRoutes.ts'
import { positionByKey, positions } from './positionReads.ts'
import type { RouteKit } from './routeKit.ts'
import { allowanceRows, balanceRows } from './tokenRows.ts'
import { tradePage, tradesQuery, tradesSearch } from './tradeRoutes.ts'

/** Adds the reads of one account. */
export function addAccountReads({ venueState }: VenueParts, kit: RouteKit): void {
  kit.api('GET', '/balances/wallet', ({ query }) =>
    balanceRows(venueState, requiredAddress(query, 'address')),
  )
  kit.api('GET', '/allowances', ({ query }) => allowanceRows(venueState, query))
  kit.api('GET', '/positions', ({ query, nowMs }) => positions(venueState, query, nowMs))
  kit.api('GET', '/positions/:key', ({ query, nowMs, param }) =>
    positionByKey(venueState, param('key'), query, nowMs),
  )
  kit.api('GET', '/orders', ({ query }) => orders(venueState, query))
  kit.api('GET', '/orders/:key', ({ param }) => orderByKey(venueState, param('key')))
  kit.api('GET', '/trades', ({ query }) => tradePage(venueState, tradesQuery(venueState, query)))
  kit.api('GET', '/trades/search', ({ query }) =>
    tradePage(venueState, tradesSearch(Object.fromEntries(query.entries()))),
  )
  kit.api('POST', '/trades/search', async ({ request }) =>
    tradePage(venueState, tradesSearch(await bodyOf(request))),
  )
}

/** Adds what takes orders, approvals and transfers. */
export function addTransactionRoutes(state: VenueParts, kit: RouteKit): void {
  const { venueState } = state
  kit.api('POST', '/orders/txns/prepare', ({ peer, request }) => prepareRoute(state, peer, request))
  kit.api('POST', '/orders/txns/edit/prepare', ({ peer, request }) =>
    changeRoute(state, peer, request, prepareEdit),
  )
  kit.api('POST', '/orders/txns/cancel/prepare', ({ peer, request }) =>
    changeRoute(state, peer, request, prepareCancel),
  )
  kit.api('POST', '/orders/txns/collateral/prepare', ({ peer, request }) =>
    changeRoute(state, peer, request, prepareCollateral),
  )
  kit.api('POST', '/orders/txns/submit', ({ peer, request }) => submitRoute(state, peer, request))
  kit.api('POST', '/orders/txns/status', ({ peer, request }) => statusRoute(state, peer, request))
  kit.api('POST', '/subaccounts/status', async ({ request }) =>
    subaccountStatus(venueState, await bodyOf(request)),
  )
  kit.api('POST', '/subaccounts/approval/prepare', async ({ request }) =>
    prepareApproval(venueState, await bodyOf(request)),
  )
  kit.api('POST', '/gmx-account/deposit/cross-chain/prepare', async ({ request }) =>
    prepareDeposit(venueState, await bodyOf(request)),
  )
  kit.api('POST', '/gmx-account/withdraw/cross-chain/prepare', async ({ peer, request }) =>
    prepareWithdrawal(venueState, peer, await bodyOf(request), state.log),
  )
  kit.api('POST', '/gmx-account/withdraw/cross-chain/submit', async ({ peer, request }) =>
    submitWithdrawal(venueState, peer, await bodyOf(request), state.log),
  )
  kit.api('POST', '/gmx-account/withdraw/cross-chain/status', async ({ peer, request }) =>
    withdrawalStatus(venueState, peer, await bodyOf(request)),
  )
  kit.api('POST', '/relay/submit', ({ peer, request }) => relaySubmitRoute(state, peer, request))
  kit.api('POST', '/relay/status', ({ request }) => relayStatusRoute(state, request))
}
