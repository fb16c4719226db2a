/** Takes the place of a strategy's name in an operator's orders; no file can have this name. */
export const OPERATOR = '@operator'
