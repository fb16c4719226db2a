/** Rows that are no older than a moment, out of a list that mostly grows: hundreds of decisions a second ask for the same hour and the same day. */

/** An answer: it stays the same for every moment between the two, as long as the list is what it was. */
interface Answer<Row> {
  readonly sinceMs: number
  /** Time of its oldest row, Unix ms. */
  readonly untilMs: number
  readonly rows: readonly Row[]
}

/** Windows that are asked for beside each other. */
const MOST_ANSWERS = 2

/** The newest answers. Whoever changes the list must call `forget`. */
export class RowsSince<Row> {
  readonly #atMsOf: (row: Row) => number
  #answers: readonly Answer<Row>[] = []

  /** `atMsOf`: the time by which a row is in a window or not, Unix ms. */
  constructor(atMsOf: (row: Row) => number) {
    this.#atMsOf = atMsOf
  }

  /** Returns the rows from `sinceMs` on (Unix ms), the same list again while it is the answer; `find` goes through all rows. */
  of(sinceMs: number, find: () => readonly Row[]): readonly Row[] {
    const known = this.#answers.find((each) => sinceMs >= each.sinceMs && sinceMs <= each.untilMs)
    if (known !== undefined) return known.rows
    const rows = find()
    const untilMs = rows.reduce((leastMs, row) => Math.min(leastMs, this.#atMsOf(row)), Infinity)
    this.#answers = [{ sinceMs, untilMs, rows }, ...this.#answers].slice(0, MOST_ANSWERS)
    return rows
  }

  /** The list changed. */
  forget(): void {
    this.#answers = []
  }
}
