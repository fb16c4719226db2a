/** An address that stays while the server behind it changes, as a virtual IP or a proxy of an operator gives one. */
import { connect, createServer, type Socket } from 'node:net'

/** The address. */
export interface MovingAddress {
  readonly port: number
  /** Lets another server answer from now on; all connections to the one before break. */
  moveTo(port: number): void
  /** Lets nothing through in either direction, as a parted network does: connections stay, and nobody answers. */
  part(): void
  close(): Promise<void>
}

/** Starts one in front of the server at `toPort`. */
export async function startAddress(toPort: number): Promise<MovingAddress> {
  const sockets = new Set<Socket>()
  let target = toPort
  let isParted = false
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client)
    if (isParted) return
    const upstream = connect(target, '127.0.0.1')
    keep(upstream)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (data) => {
        if (!isParted) to.write(data)
      })
      from.on('close', () => {
        if (!isParted) to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    moveTo(port) {
      target = port
      isParted = false
      breakAll()
    },
    part() {
      isParted = true
    },
    async close() {
      breakAll()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
