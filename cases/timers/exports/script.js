import * as timers from 'k6/timers';
import { setTimeout as later, clearTimeout as stop } from 'k6/timers';
export default function () {
  console.log(Object.keys(timers).sort().join(), later === globalThis.setTimeout, typeof stop);
  const id = later(() => console.log('never'), 5);
  stop(id);
  later((a, b) => console.log('ran', a, b), 1, 'x', 2);
}
