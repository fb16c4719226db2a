/** The part of papaparse that is called; the package brings no types. */
declare module 'papaparse' {
  interface ParseError {
    readonly code: string
    readonly message: string
    /** Index of the row; absent where the whole text is meant. */
    readonly row?: number
  }
  const Papa: {
    parse(
      text: string,
      options: { readonly delimiter: string },
    ): { readonly data: readonly (readonly string[])[]; readonly errors: readonly ParseError[] }
  }
  export default Papa
}
