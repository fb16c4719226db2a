/** Wires processes of several steps: tasks that make orders over time, unwinds, kills and wind-downs. */
import { OPERATOR } from '../../account/halts/tradingHalts.ts'
import type { Decision, IncreaseDecision } from '../../domain/order/decision.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { admitDecision } from '../../engine/judging/admitDecision.ts'
import { judge, roomFor } from '../../engine/judging/judgeDecision.ts'
import { createTaskRoad } from '../../engine/taskRoad.ts'
import { createExecutors } from '../../running/executors.ts'
import { createKill } from '../../running/kill.ts'
import { createUnwinder } from '../../running/unwinder.ts'
import { createWindDown } from '../../running/windDown.ts'
import type { EngineAccount } from './wireAccount.ts'
import type { EngineBase } from './wireBase.ts'
import type { EngineRoad } from './wireRoad.ts'

/** The processes, and how they and the operator read and decide. */
export type EngineProcesses = ReturnType<typeof wireProcesses>

/** Wires the processes over the account and the road. */
export function wireProcesses(
  { context, isRunning }: EngineBase,
  { facts, filled, holdings, prices, read, watch }: EngineAccount,
  { accept }: EngineRoad,
) {
  /** Source of the daemon's own decisions: they are read and admitted in the operator's name. */
  const byHand = { name: OPERATOR, isWhole: true }
  const byOperator = {
    read: (wanted: readonly string[]) => read({ symbols: wanted, allPositionMarkets: true }),
    admit: (snapshot: Snapshot, decision: Decision, decisionKey: string, beside?: () => Promise<void>) =>
      accept.inTurn(() => admitDecision(accept, byHand, snapshot, decision, decisionKey, beside)),
    judging: {
      judge: (snapshot: Snapshot, decision: Decision, decisionKey: string) =>
        judge(facts(snapshot, byHand), { source: byHand, decision, decisionKey }),
      roomFor: (snapshot: Snapshot, decision: IncreaseDecision, decisionKey: string) =>
        roomFor(facts(snapshot, byHand), { source: byHand, decision, decisionKey }),
    },
  }
  // An operator's payment is checked against the wallet before anything is signed.
  const withWallet = {
    read: (symbols: readonly string[]) => read({ symbols, allPositionMarkets: true, balances: true }),
    isRunning,
  }
  const taskRoad = createTaskRoad({ ...context, holdings, accept, unseen: filled.in })
  const executors = createExecutors({ ...context, ...withWallet, prices, road: taskRoad })
  return {
    byOperator,
    withWallet,
    taskRoad,
    executors,
    unwinder: createUnwinder({ ...context, ...byOperator, holdings, isSeen: filled.isSeen }),
    kill: createKill({
      ...context,
      ...byOperator,
      holdings,
      symbols: watch.symbols,
      endTasks: (by) => executors.endings(by, 'a kill cancels resting orders and ends every task'),
    }),
    windDown: createWindDown({
      ...context,
      read: byOperator.read,
      admit: (name, snapshot, decision, decisionKey, beside) =>
        // Whatever its kind was, it takes its own part and no more.
        accept.inTurn(() => {
          const source = { name, strategy: { opensPositions: true } }
          return admitDecision(accept, source, snapshot, decision, decisionKey, beside)
        }),
    }),
  }
}
