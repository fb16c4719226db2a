/**
 * The thread of a kind of the user's own, from inside: loads the kind, keeps its settings, and answers one question at a time. An error becomes an
 * answer with the file and line of the user's source; a hanging thread is ended from outside.
 */
import { deserialize, serialize } from 'node:v8'
import type { MessagePort } from 'node:worker_threads'
import { defined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { checkTurn, MemoryUnfitError, memoryFor } from '../kindMemory.ts'
import { type Strategy, type StrategyInstance, statusAfter, viewOf } from '../strategy.ts'
import type { Scene } from './hosted.ts'
import type { KindAnswer, KindQuestion } from './kindMessages.ts'
import { issuesOf } from './schemaProblems.ts'
import { placeOfError } from './sourcePlace.ts'
import { NO_STRATEGY, strategyIn } from './strategyModule.ts'

/** Largest answer of one turn, bytes: two hundred decisions with their reasons are far smaller. */
const MOST_ANSWER_BYTES = 1_048_576

/** Turns of a thread that are not timed: its code is compiled in them. */
const WARM_UP_TURNS = 3

/** Serves one kind on a port; `load` imports its module, and `modules` gives the files that came with it. */
export async function serveKind(
  port: MessagePort,
  load: () => Promise<unknown>,
  modules: () => readonly string[] = () => [],
): Promise<void> {
  let params: unknown
  let instance: StrategyInstance = { name: '', symbols: [] }
  let turns = 0
  const answer = (message: KindAnswer): void => port.postMessage(message)
  const failed = (error: unknown): KindAnswer => ({
    is: 'failed',
    reason: reasonOf(error),
    place: placeOfError(error),
  })

  let strategy: Strategy
  try {
    const found = strategyIn(await load())
    if (found === undefined) {
      answer({ is: 'failed', reason: NO_STRATEGY })
      return
    }
    strategy = found
  } catch (error) {
    answer(failed(error))
    return
  }

  function answerTo(question: KindQuestion): KindAnswer {
    switch (question.ask) {
      case 'params': {
        const checked = strategy.params.safeParse(question.raw)
        if (!checked.success) return { is: 'params', issues: issuesOf(strategy.params, checked.error) }
        params = checked.data
        return { is: 'params', issues: [] }
      }
      case 'instance':
        instance = question.instance
        return { is: 'needs', needs: strategy.needs(params, instance.symbols) }
      case 'decide': {
        const scene = deserialize(question.bytes) as Scene
        const { memory: kept, ...seen } = scene
        const view = viewOf({ ...seen, params, instance })
        const { memory } = strategy
        const given = memory === undefined ? [] : [memoryFor(strategy.kind, memory, kept)]
        const before = process.threadCpuUsage()
        const returned: unknown = strategy.decide(view, ...given)
        const isLater = typeof returned === 'object' && returned !== null && 'then' in returned
        const turn = memory === undefined || isLater ? undefined : checkTurn(memory, returned)
        const status = isLater ? undefined : statusAfter(strategy, view, turn?.memory)
        const { user, system } = process.threadCpuUsage(before)
        turns += 1
        const spent = defined({ spentMs: turns > WARM_UP_TURNS ? (user + system) / 1_000 : undefined })
        if (isLater) return { is: 'promise' }
        const bytes = serialize(turn ?? returned)
        if (bytes.byteLength <= MOST_ANSWER_BYTES)
          return { is: 'decided', bytes, ...spent, ...defined({ status }) }
        throw new RangeError(
          `what decide returned has ${bytes.byteLength} bytes; at most ${MOST_ANSWER_BYTES} are taken`,
        )
      }
    }
  }

  port.on('message', (question: KindQuestion) => {
    try {
      answer(answerTo(question))
    } catch (error) {
      if (error instanceof MemoryUnfitError) {
        const place = placeOfError(error.cause)
        answer({
          is: 'unfit',
          reason: place === undefined ? error.shortMessage : `${place}: ${error.shortMessage}`,
          facts: error.facts as Readonly<Record<string, string | number>>,
        })
        return
      }
      answer(failed(error))
    }
  })
  const { kind, description, opensPositions, memory, takesSignals = false } = strategy
  const remembers = memory !== undefined
  answer({ is: 'loaded', kind, description, opensPositions, remembers, takesSignals, modules: modules() })
}
