/** Stands where a strategy's name stands in what an operator has made; no file can have this name. */
export const OPERATOR = '@operator'
