/** The owner of an order or of a part of a position, as people say it. */
import type { RestingOrder } from '../pageWire.ts'
import { texts } from '../texts.ts'

const { resting: words } = texts

/** The instance's name, a task, the hand, or another client of the account. */
export function ownerText(kind: RestingOrder['ownerKind'], name: string): string {
  if (kind === 'hand' || kind === 'others') return words.owners[kind]
  return kind === 'task' ? words.task(name) : name
}
