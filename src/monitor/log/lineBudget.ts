/**
 * The most that one line may take, whatever a host, a kind of the user's own or an operator puts into it. A longer one is cut
 * in steps, and says how much is missing; orders and their records are whole in the journal.
 */
import { visible } from '../../base/shownText.ts'

/** Most bytes of a line as it is written, in UTF-8, its end included. */
export const MAX_LINE_BYTES = 8_192

/** Most bytes of a line's sentence as it is shown. */
const MAX_TEXT_BYTES = 4_000

/** Remaining room of a line's parts: characters of a text, elements of a list, fields of an object, depth. */
interface Room {
  readonly characters: number
  readonly elements: number
  readonly fields: number
  readonly depth: number
}

/** Limits of every line, then the tighter limits of a line that is still too long. */
const rooms: readonly Room[] = [
  { characters: 2_000, elements: 50, fields: 100, depth: 6 },
  { characters: 500, elements: 10, fields: 30, depth: 4 },
  { characters: 100, elements: 3, fields: 20, depth: 2 },
  { characters: 40, elements: 0, fields: 12, depth: 1 },
  { characters: 0, elements: 0, fields: 0, depth: 1 },
]

/** Bytes of a text in UTF-8 as it is shown. */
function shownBytes(text: string): number {
  return Buffer.byteLength(visible(text))
}

/** A sentence of at most 4,000 bytes as it is shown, with how long it was. */
export function cutText(text: string, most: number = MAX_TEXT_BYTES): string {
  const whole = shownBytes(text)
  if (whole <= most) return text
  let length = Math.min(text.length, most)
  let bytes = shownBytes(text.slice(0, length))
  while (bytes > most) {
    length = Math.floor((length * most) / bytes)
    bytes = shownBytes(text.slice(0, length))
  }
  return `${text.slice(0, length)}… (${text.length} characters)`
}

/**
 * The fields as the line has room for them. `made` gives the whole line as it would be written; what had to be cut beyond
 * the length of single texts and lists is counted in `cut_bytes`.
 */
export function lineWithin(
  fields: Readonly<Record<string, unknown>>,
  made: (fields: Readonly<Record<string, unknown>>) => string,
): string {
  let text = ''
  for (const [step, room] of rooms.entries()) {
    const kept = fitted(fields, room) as Readonly<Record<string, unknown>>
    text = made(step === 0 ? kept : { ...kept, cut_bytes: sizeOf(fields) - sizeOf(kept) })
    if (Buffer.byteLength(text) <= MAX_LINE_BYTES) return text
  }
  return text
}

function sizeOf(fields: Readonly<Record<string, unknown>>): number {
  return Buffer.byteLength(JSON.stringify(fields))
}

/** A value that is ready for JSON, as the room has it. */
function fitted(value: unknown, room: Room): unknown {
  if (typeof value === 'string') {
    return value.length <= room.characters
      ? value
      : `${value.slice(0, room.characters)}… (${value.length} characters)`
  }
  if (typeof value !== 'object' || value === null) return value
  const inner = { ...room, depth: room.depth - 1 }
  if (Array.isArray(value)) {
    if (room.depth <= 0) return `… (${value.length} elements)`
    const more = value.length > room.elements ? [`… and ${value.length - room.elements} more`] : []
    return [...value.slice(0, room.elements).map((each) => fitted(each, inner)), ...more]
  }
  const entries = Object.entries(value)
  if (room.depth <= 0) return `… (${entries.length} fields)`
  const more: [string, unknown][] =
    entries.length > room.fields ? [['…', `and ${entries.length - room.fields} more`]] : []
  const kept = entries.slice(0, room.fields).map(([name, each]): [string, unknown] => [
    // A name comes from outside as well: facts of a kind of the user's own have what names they like.
    name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`,
    fitted(each, inner),
  ])
  return Object.fromEntries([...kept, ...more])
}

/** Longest name of a field, characters. */
const MAX_NAME = 60
