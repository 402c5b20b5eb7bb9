/** Quiet hours: when a message that must not disturb may be sent. Pure. */

import { zoneKey } from '../core/local-time.ts';

/** Minutes of the day, in a time zone. From 22:00 to 07:00 is 1320 to 420; equal ends: never quiet. */
export interface QuietHours {
  from: number;
  to: number;
  /** IANA name. */
  timeZone: string;
}

/** The zone of quiet hours for which none was chosen: the service sells in Vietnam. */
export const defaultTimeZone = 'Asia/Ho_Chi_Minh';

const minuteMs = 60_000;
const dayMinutes = 1_440;

/**
 * The end of the quiet hours that contain a moment; null: it is not quiet. Minutes are counted on the clock of the zone,
 * so that the end is at the chosen time on days of 23 and 25 hours too.
 */
export function quietUntil(moment: Date, hours: QuietHours | null): Date | null {
  if (hours === null || hours.from === hours.to || !isQuiet(minuteOfDay(moment, hours.timeZone), hours)) return null;
  const start = Math.floor(moment.getTime() / minuteMs) * minuteMs;
  // A day has at most 25 hours.
  for (let minutes = 1; minutes <= dayMinutes + 60; minutes += 1) {
    const end = new Date(start + minutes * minuteMs);
    if (!isQuiet(minuteOfDay(end, hours.timeZone), hours)) return end;
  }
  return null;
}

function isQuiet(minute: number, { from, to }: QuietHours): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Zones are checked when they are chosen: the cache has at most one entry for each known zone. */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const key = zoneKey(timeZone);
  const known = clocks.get(key);
  if (known !== undefined) return known;
  const clock = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' });
  clocks.set(key, clock);
  return clock;
}

function minuteOfDay(moment: Date, timeZone: string): number {
  let minute = 0;
  for (const { type, value } of clockOf(timeZone).formatToParts(moment)) {
    if (type === 'hour') minute += Number(value) * 60;
    if (type === 'minute') minute += Number(value);
  }
  return minute;
}
