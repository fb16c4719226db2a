/** Wires the turns of strategies: an instance each, which reads, decides and commits. */
import { defined } from '../../base/defined.ts'
import { createInstance } from '../../engine/instance.ts'
import { createInstances } from '../../engine/roster/instances.ts'
import { tick } from '../../engine/tick.ts'
import type { TurnContext } from '../../engine/turnContext.ts'
import type { EngineAccount } from './wireAccount.ts'
import type { EngineBase } from './wireBase.ts'
import type { EngineProcesses } from './wireProcesses.ts'
import type { EngineRoad } from './wireRoad.ts'

/** Wires the instances over the account, the road and the processes that decisions may request. */
export function wireTurns(
  { parts, context, roster, ending: { deciding } }: EngineBase,
  { aheadStamps, filled, holdings, prices, read, watch }: EngineAccount,
  { accept }: EngineRoad,
  { executors, unwinder }: EngineProcesses,
) {
  const turns: TurnContext = {
    ...context,
    ...{ accept, aheadStamps, holdings, prices, unseen: filled.in },
    requests: {
      ...context,
      planUnwind: unwinder.plan,
      planTask: executors.ofStrategies.plan,
      tasksOf: executors.ofStrategies.own,
    },
    exitRetries: new Map(),
    ...defined({ recordTurn: parts.recordTurn }),
  }
  return createInstances(
    roster,
    (first) =>
      createInstance(
        first,
        context,
        deciding.signal,
        async (tickMs, isAsked, loaded) => {
          const report = await tick(turns, loaded, tickMs, () => read(loaded.needs), isAsked)
          watch.saw(report.snapshot.positions.value)
          return report
        },
        parts.engineSettings,
      ),
    deciding.signal,
  )
}
