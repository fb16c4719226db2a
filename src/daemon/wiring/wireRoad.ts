/** Wires the road of orders: they are made under its vetoes, sized anew by facts of the moment, and accepted in turn. */
import { isRecentFill } from '../../account/watch/watchedAccount.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import { createAccept } from '../../engine/judging/accept.ts'
import { resizeAccepted } from '../../engine/judging/resizeAccepted.ts'
import { shippedLanes } from '../../execution/lanes/shippedLanes.ts'
import { createOrderManager } from '../../execution/orderManager.ts'
import type { Usd } from '../../protocol/units.ts'
import { windDownVeto } from '../../running/windDown.ts'
import type { EngineAccount } from './wireAccount.ts'
import type { EngineBase } from './wireBase.ts'

/** The road. */
export type EngineRoad = ReturnType<typeof wireRoad>

/** Wires the road over the account, and restores the open intents of before this process. */
export function wireRoad(
  { parts, execution, context, isDeciding, before, startedAtMs }: EngineBase,
  { facts, read }: EngineAccount,
) {
  const { warnings, trading, subaccount } = parts
  const { api, catalogue, openOrders, strategies } = context
  const { emit, journal } = execution
  const resize = (intent: Intent, atMostUsd: Usd): Promise<Usd | Denial> =>
    resizeAccepted({ api, facts, read }, intent, atMostUsd)
  const standingVeto = (intent: Intent) =>
    trading.veto(intent) ?? catalogue.veto(intent) ?? subaccount?.veto(intent)
  const ownWarnings = (strategy: string) => strategies().find(({ name }) => name === strategy)?.warnings
  const orderManager = createOrderManager(
    {
      ...execution,
      ...(warnings === undefined
        ? {}
        : { warningPolicies: (strategy) => [warnings, ...[ownWarnings(strategy) ?? []].flat()] }),
      admission: { veto: (intent) => windDownVeto(parts, intent) ?? standingVeto(intent), resize },
    },
    shippedLanes,
    openOrders,
  )
  // Oldest first: of so many the newest are remembered.
  for (const state of before.toReversed()) execution.fees?.learn(state)
  orderManager.restore(
    journal.openIntents(),
    before.filter((state) => isRecentFill(state, startedAtMs)),
  )
  return { resize, orderManager, accept: createAccept({ emit, facts, isDeciding, orderManager }) }
}
