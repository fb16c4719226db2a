/** Waiting for what real processes and sockets do: by looking, never by sleeping a fixed time. */

/** Gives what `look` finds as soon as it finds something; fails after ten seconds. */
export async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const end = performance.now() + 10_000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
