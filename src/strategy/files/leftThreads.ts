/** Threads that nothing can end, counted separately from their maker, so that a command without strategies loads nothing for it. */
let leftBehind = 0

/**
 * Returns the number of threads of this process that were ended and still run; at most one of each instance. Node waits for them at its end: only a
 * signal ends the process then. V8 ends loops, regular expressions and comparisons of a sort at once. It ends a built-in function with much work
 * (`Float64Array.prototype.sort`, `indexOf`) only when that function returns, and a few loops of such functions never.
 */
export function threadsLeftBehind(): number {
  return leftBehind
}

/** Counts a thread that was ended and still runs; returns a function that uncounts it when its runtime ends it after all. */
export function countLeftThread(): () => void {
  leftBehind += 1
  return () => {
    leftBehind -= 1
  }
}
