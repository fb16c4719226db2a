/** The control routes, which are no part of the wire: faults, accounts, reorganisations, and the venue's own record. */
import type { Context, Hono } from 'hono'
import { advanceWorld } from './advance.ts'
import { mountFaultRoutes } from './faultRoutes.ts'
import { applyFaults, showsAtOnce } from './faults.ts'
import { isObject, stringify } from './http.ts'
import type { KeptAnswers } from './keptAnswers.ts'
import { holdFailingValues } from './marketValues.ts'
import { settledRecord } from './record.ts'
import { reorganiseByControl } from './reorgControl.ts'
import type { VenueState } from './venueState.ts'
import { changeAccount } from './wallet.ts'
import type { WireFaults } from './wireFaults.ts'

/** The JSON of a control request; undefined when it is none. */
function given(context: Context): Promise<unknown> {
  return context.req.json().catch(() => undefined)
}

/** Mounts `/__control/faults`, `/accounts`, `/reorg`, `/record`, and the wire faults. */
export function mountControl(
  app: Hono,
  parts: {
    readonly state: VenueState
    readonly wire: WireFaults
    readonly kept: KeptAnswers
    readonly answer: (status: number, text: string) => Response
  },
): void {
  const { state, wire, kept, answer } = parts
  const { world, faults } = state
  const told = (result: unknown): Response =>
    typeof result === 'string' ? answer(400, stringify({ message: result })) : answer(200, stringify(result))

  app.get('/__control/faults', () => answer(200, stringify(faults)))
  app.post('/__control/faults', async (context) => {
    const change = await given(context)
    const wrong = applyFaults(faults, change)
    if (wrong !== undefined) return told(wrong)
    if (isObject(change)) wire.note(change)
    holdFailingValues(world, world.clock.now())
    if (showsAtOnce(change)) kept.forget()
    return answer(200, stringify(faults))
  })
  mountFaultRoutes(app, wire, answer)
  app.post('/__control/accounts', async (context) => told(changeAccount(world, await given(context))))
  app.post('/__control/reorg', async (context) => told(reorganiseByControl(world, await given(context))))
  app.get('/__control/record', () => {
    advanceWorld(world)
    return answer(200, stringify(settledRecord(world, state.record)))
  })
}
