/** Takes the place of a strategy's name in an operator's orders; no file can have this name. */
export const OPERATOR = '@operator'

/** The operator as the owner of an order or of a part, for people. */
export const BY_HAND = 'by hand'

/** Names the author of an order or of a book for people: a strategy's name, or `by hand` for the operator. */
export function authorText(strategy: string): string {
  return strategy === OPERATOR ? BY_HAND : strategy
}
