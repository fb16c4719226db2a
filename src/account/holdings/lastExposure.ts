/** The exposure of the account, folded once for all requests between two changes of its inputs. */
import { lastMade } from '../../base/sameAgain.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type Exposure, exposureOf } from '../../risk/exposure/accountExposure.ts'

/** As `exposureOf`; the same again for the same lists, states and sizes: every turn of every strategy asks some times. */
export function lastExposure(): typeof exposureOf {
  const lastOf = lastMade<Exposure>()
  const sameStates = lastMade<readonly IntentState[]>()
  return (snapshot, openIntents, others = {}) => {
    const { positions, orders } = snapshot
    const lists = [positions.value, positions.missing, positions.atMs, orders.value]
    const states = sameStates(openIntents, () => openIntents)
    return lastOf([...lists, others.journal, others.hosts, states], () =>
      exposureOf(snapshot, openIntents, others),
    )
  }
}
