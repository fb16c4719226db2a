/** Where accounts are read and their orders taken (docs/api-coverage.md GET /positions and POST /orders/txns/prepare). */
import { orderByKey, orders } from './appRoutes.ts'
import { prepareCancel, prepareCollateral, prepareEdit } from './changes.ts'
import { prepareDeposit } from './deposits.ts'
import { bodyOf, requiredAddress } from './http.ts'
import {
  changeRoute,
  prepareRoute,
  relayStatusRoute,
  relaySubmitRoute,
  statusRoute,
  submitRoute,
} from './orderRoutes.ts'
import { positionByKey, positions } from './positionReads.ts'
import type { RouteKit } from './routeKit.ts'
import { prepareApproval, subaccountStatus } from './subaccounts.ts'
import { allowanceRows, balanceRows } from './tokenRows.ts'
import { tradePage, tradesQuery, tradesSearch } from './tradeRoutes.ts'
import type { VenueState } from './venueState.ts'
import { prepareWithdrawal, submitWithdrawal, withdrawalStatus } from './withdrawals.ts'

/** Adds the reads of one account. */
export function addAccountReads({ world }: VenueState, kit: RouteKit): void {
  kit.api('GET', '/balances/wallet', ({ query }) => balanceRows(world, requiredAddress(query, 'address')))
  kit.api('GET', '/allowances', ({ query }) => allowanceRows(world, query))
  kit.api('GET', '/positions', ({ query, nowMs }) => positions(world, query, nowMs))
  kit.api('GET', '/positions/:key', ({ query, nowMs, param }) =>
    positionByKey(world, param('key'), query, nowMs),
  )
  kit.api('GET', '/orders', ({ query }) => orders(world, query))
  kit.api('GET', '/orders/:key', ({ param }) => orderByKey(world, param('key')))
  kit.api('GET', '/trades', ({ query }) => tradePage(world, tradesQuery(world, query)))
  kit.api('GET', '/trades/search', ({ query }) =>
    tradePage(world, tradesSearch(Object.fromEntries(query.entries()))),
  )
  kit.api('POST', '/trades/search', async ({ request }) =>
    tradePage(world, tradesSearch(await bodyOf(request))),
  )
}

/** Adds what takes orders, approvals and transfers. */
export function addTransactionRoutes(state: VenueState, kit: RouteKit): void {
  const { world } = state
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
    subaccountStatus(world, await bodyOf(request)),
  )
  kit.api('POST', '/subaccounts/approval/prepare', async ({ request }) =>
    prepareApproval(world, await bodyOf(request)),
  )
  kit.api('POST', '/gmx-account/deposit/cross-chain/prepare', async ({ request }) =>
    prepareDeposit(world, await bodyOf(request)),
  )
  kit.api('POST', '/gmx-account/withdraw/cross-chain/prepare', async ({ peer, request }) =>
    prepareWithdrawal(world, peer, await bodyOf(request), state.log),
  )
  kit.api('POST', '/gmx-account/withdraw/cross-chain/submit', async ({ peer, request }) =>
    submitWithdrawal(world, peer, await bodyOf(request), state.log),
  )
  kit.api('POST', '/gmx-account/withdraw/cross-chain/status', async ({ peer, request }) =>
    withdrawalStatus(world, peer, await bodyOf(request)),
  )
  kit.api('POST', '/relay/submit', ({ peer, request }) => relaySubmitRoute(state, peer, request))
  kit.api('POST', '/relay/status', ({ request }) => relayStatusRoute(state, request))
}
