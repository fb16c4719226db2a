/** Words of sounds and notifications. */
export const alarmTexts = {
  title: 'Sound and notifications',
  hint: 'For this browser alone, while the console is open in a tab. All are off until you choose them.',
  sound: 'Sound',
  notify: 'Notification',
  events: {
    fill: 'An order is filled',
    stop: 'A stop-loss is filled',
    liquidation: 'A position comes within 10% of its liquidation',
    halt: 'Trading is reduced or halted',
    lost: 'The daemon is not heard any more',
  },
  label: (way: string, event: string) => `${way}: ${event}`,
  trySound: 'Try the sound',
  tryNotification: 'Try a notification',
  tried: 'Notifications of perpd look like this.',
  soundNote: 'A browser plays no sound before the first click or key on a page that was loaded anew.',
  impossible: {
    insecure:
      'Notifications are impossible here: browsers show them for secure pages alone, at this machine’s own address (127.0.0.1) or behind TLS.',
    unknown: 'Notifications are impossible here: this browser shows none for a page.',
    denied:
      'Notifications are impossible here: the browser refuses them for this page. Allow them in its settings.',
  },
  told: {
    fill: (what: string) => `Filled: ${what}`,
    stop: (what: string) => `Stop filled: ${what}`,
    liquidation: (what: string, share: string) => `Liquidation near: ${what}, ${share} away`,
    halt: (state: string) => `Trading is ${state}`,
    lost: 'No data from the daemon',
  },
  order: (market: string, side: string, size: string, strategy: string) =>
    `${market} ${side} ${size}, ${strategy}`,
  position: (market: string, side: string) => `${market} ${side}`,
} as const
