/** Answers in the form that the switches of answers ask for (answerFaults.ts). */

import { isObject } from '../../base/isObject.ts'
import type { AnswerFaults } from './answerFaults.ts'
import { fitsPattern } from './wireFaultRule.ts'

/** Reads of the oracle service that a host which stands still answers with what was. */
const priceRoutes: ReadonlySet<string> = new Set([
  '/prices/tickers',
  '/prices/candles',
  '/signed_prices/latest',
])

/** Milliseconds that a host's answer to a route is behind the clock. */
export function answerAgeMs(faults: AnswerFaults, host: string, route: string): number {
  return faults.oldOracles.includes(host) && priceRoutes.has(route) ? faults.oldOracleSeconds * 1000 : 0
}

/** Texts after the route in `malformedRows` that are of this route; empty = the first row. */
function malformedIn(faults: AnswerFaults, route: string): string[] {
  return faults.malformedRows.flatMap((one) => {
    const [named = '', ...text] = one.split(' ')
    return named === route ? [text.join(' ')] : []
  })
}

/** Tells whether any switch changes the responses of a host to a route; such responses are not cached. */
export function changesAnswer(faults: AnswerFaults, host: string, route: string): boolean {
  return (
    answerAgeMs(faults, host, route) > 0 ||
    malformedIn(faults, route).length > 0 ||
    (host.startsWith('api/') && faults.bigintObjects.some((pattern) => fitsPattern(pattern, route))) ||
    (route === '/relay/submit' && faults.relaySubmitAnswer !== 'whole') ||
    (route === '/relay/status' && faults.relayStatusAnswer !== 'whole')
  )
}

/** Tells whether any switch changes any response at all. */
export function changesAnswers(faults: AnswerFaults): boolean {
  return faults.oldOracles.length + faults.malformedRows.length + faults.bigintObjects.length > 0
}

/** An amount as the wire writes it. */
const amount = /^-?\d+$/

function malformed(row: unknown, as: AnswerFaults['malformedAs']): unknown {
  if (as === 'null' || !isObject(row)) return null
  const field = Object.keys(row).find(
    (name) => amount.test(String(row[name])) && typeof row[name] === 'string',
  )
  if (field === undefined) return null
  const { [field]: _amount, ...rest } = row
  return as === 'missing' ? rest : { ...row, [field]: 'many' }
}

function withMalformedRow(body: unknown, text: string, as: AnswerFaults['malformedAs']): unknown {
  if (isObject(body)) {
    // A list may be wrapped in an object, as `/tokens` of the oracle is.
    const name = Object.keys(body).find((key) => Array.isArray(body[key]))
    return name === undefined ? body : { ...body, [name]: withMalformedRow(body[name], text, as) }
  }
  if (!Array.isArray(body)) return body
  const wanted = text.toLowerCase()
  const at =
    text === ''
      ? 0
      : body.findIndex(
          (row) =>
            isObject(row) && Object.values(row).some((value) => String(value).toLowerCase() === wanted),
        )
  return body.map((row: unknown, i) => (i === at ? malformed(row, as) : row))
}

/** Every amount of a body as the object that the venue's own library also takes for one. */
function withBigintObjects(value: unknown): unknown {
  if (typeof value === 'string' && amount.test(value)) return { type: 'bigint', value }
  if (Array.isArray(value)) return value.map(withBigintObjects)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withBigintObjects(one)]))
}

function relayStatusAs(body: unknown, form: AnswerFaults['relayStatusAnswer']): unknown {
  if (!isObject(body)) return body
  const { taskId, ...rest } = body
  if (form === 'no-task-id') return rest
  if (form === 'other-task-id') return { ...body, taskId: `0x${'0d'.repeat(32)}` }
  if (form === 'empty-revert-data') return { ...body, revertData: '' }
  if (form === 'odd-revert-data') return { ...body, revertData: '0x08c379a' }
  return form === 'empty-tx-hash' ? { ...body, txHash: '' } : body
}

/** A body of a 200 in the form that the switches ask for. */
export function shapedAnswer(faults: AnswerFaults, host: string, route: string, body: unknown): unknown {
  let shaped = body
  if (route === '/relay/submit' && faults.relaySubmitAnswer === 'task-id-only' && isObject(shaped)) {
    shaped = { taskId: shaped.taskId }
  }
  if (route === '/relay/status') shaped = relayStatusAs(shaped, faults.relayStatusAnswer)
  for (const text of malformedIn(faults, route)) shaped = withMalformedRow(shaped, text, faults.malformedAs)
  const isBigint =
    host.startsWith('api/') && faults.bigintObjects.some((pattern) => fitsPattern(pattern, route))
  return isBigint ? withBigintObjects(shaped) : shaped
}
