/** The text of the daemon's stream, read into events. */

/** An event as the stream writes it. */
export interface StreamEvent {
  readonly id: string
  readonly name: string
  readonly data: string
}

/** Reads events out of a text that comes in pieces; signs of life are none. */
export function createEventReader(): (part: string) => readonly StreamEvent[] {
  let rest = ''
  return (part) => {
    const blocks = `${rest}${part}`.split('\n\n')
    rest = blocks.pop() ?? ''
    return blocks.filter((block) => !block.startsWith(':')).map(eventOf)
  }
}

function eventOf(block: string): StreamEvent {
  const field = (name: string): string =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? ''
  return { id: field('id'), name: field('event'), data: field('data') }
}
