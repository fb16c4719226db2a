/** The Date header of answers. */

let dateSecond = -1
let dateText = ''

/** The Date header of a moment, written once a second. */
export function dateHeader(nowMs: number): string {
  const second = Math.floor(nowMs / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(nowMs).toUTCString()
  }
  return dateText
}
