/** An id that a command is carried out once by, however often it is sent. 16 letters and digits of a random source. */
export function newCommandId(): string {
  // randomUUID is there on secure pages alone, and this one may be served without TLS.
  return [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}
