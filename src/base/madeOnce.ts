/**
 * Gives what was made of an object when it was first asked for. For what many readers derive from one list or state that nobody
 * changes; `make` must give the same for the same.
 */
export function madeOnce<Given extends object, Made extends object | string>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const made = new WeakMap<Given, Made>()
  return (given) => {
    const known = made.get(given)
    if (known !== undefined) return known
    const fresh = make(given)
    made.set(given, fresh)
    return fresh
  }
}

/** Answers out of a state, each made when it is asked first. Whoever changes the state must call `forget`. */
export class MadeAnswers {
  readonly #made = new Map<string, unknown>()

  /** Returns the answer to a question: what `make` gives, which must be of one type for each question. */
  of<Answer extends object>(question: string, make: () => Answer): Answer {
    const known = this.#made.get(question) as Answer | undefined
    if (known !== undefined) return known
    const answer = make()
    this.#made.set(question, answer)
    return answer
  }

  /** The state changed: every answer is made anew. */
  forget(): void {
    this.#made.clear()
  }
}
