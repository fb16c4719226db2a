/**
 * A prepare answer says its message twice: typed data to sign, and `batchParams` that the venue builds the call from. A host
 * whose two messages differ contradicts itself: the call could only ever revert, a signature would be burnt for it, and
 * nothing else that the host says is worth more. The relay parameters have one copy, whose hash the message carries.
 */
import type { BatchCopy } from '../../api/orders/batchCopy.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { Batch } from '../../protocol/signing/relayRouter.ts'
import type { Differences } from '../context/differences.ts'
import { checkOrderInputs, checkUpdateInputs } from './verifyInputs.ts'

/** Places of the copies in an answer, by the message's list that they copy. */
const places = {
  createOrderParamsList: 'payload.batchParams.createOrderParams',
  updateOrderParamsList: 'payload.batchParams.updateOrderParams',
} as const

/** Compares every field of the copy with the message, and the builder's inputs once more with message and intent. Cancels are a set in either. */
export function checkCopies(
  differences: Differences,
  chain: Chain,
  intent: Intent,
  batch: Batch,
  copy: BatchCopy,
): void {
  for (const [name, place] of Object.entries(places) as [keyof typeof places, string][]) {
    differences.same(`${place}.length`, batch[name].length, copy[name].length)
    batch[name].forEach((meant, index) => {
      const found = copy[name][index]
      if (found !== undefined) checkSame(differences, `${place}[${index}]`, meant, found)
    })
  }
  const cancels = 'payload.batchParams.cancelOrderParams'
  differences.sameKeys(cancels, batch.cancelOrderKeys, copy.cancelOrderKeys)
  const scene = { differences, chain, intent }
  batch.createOrderParamsList.forEach((order, index) => {
    const found = copy.orderInputs?.[index]
    const at = `${places.createOrderParamsList}[${index}]`
    if (found !== undefined) checkOrderInputs(scene, at, order, found)
  })
  batch.updateOrderParamsList.forEach((update, index) => {
    const found = copy.updateInputs?.[index]
    const at = `${places.updateOrderParamsList}[${index}]`
    if (found !== undefined) checkUpdateInputs(scene, at, update, found)
  })
}

/** Compares fields, lists of them, and their values: hex, numbers and flags. Only differing places are named. */
function checkSame(differences: Differences, at: string, meant: unknown, found: unknown): void {
  if (typeof meant !== 'object' || typeof found !== 'object' || meant === null || found === null) {
    differences.hex(at, withoutExpress(String(meant)), withoutExpress(String(found)))
    return
  }
  for (const name of Object.keys(meant)) checkField(differences, at, name, meant, found)
  for (const name of Object.keys(found))
    if (!Object.hasOwn(meant, name)) checkField(differences, at, name, meant, found)
}

function checkField(differences: Differences, at: string, name: string, meant: object, found: object): void {
  const [one, other] = [fieldOf(meant, name), fieldOf(found, name)]
  // The venue's client adds the metadata word when it makes the message: its copy may have none yet.
  if (name === 'dataList' && Array.isArray(other) && other.length === 0) return
  if (one === undefined || other === undefined)
    differences.add(
      `${at}.${name}`,
      one === undefined ? 'absent' : 'present',
      other === undefined ? 'absent' : 'present',
    )
  else if (one === other && typeof one !== 'object') differences.compared += 1
  else checkSame(differences, `${at}.${name}`, one, other)
}

function fieldOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

const metadata = /^gmxo:1:\d{1,2}:[0-9a-f]{1,4}:\d{2}:[01]:[01]$/i

/**
 * The metadata word of an order, with its express flag taken away: the venue's client sets it in the message after it made
 * the copy. Any other word as it is.
 */
function withoutExpress(word: string): string {
  if (word.length !== 66) return word
  const text = Buffer.from(word.slice(2), 'hex').toString('latin1').replace(/\0+$/, '')
  if (!metadata.test(text)) return word
  return `0x${Buffer.from(`${text.slice(0, -1)}0`.padEnd(32, '\0'), 'latin1').toString('hex')}`
}
