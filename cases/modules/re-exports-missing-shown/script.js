import * as names from './names.js';
import * as stars from './stars.js';
export default function () {
  console.log(Object.keys(names).sort().join(), String(names.a), String(names.b), String(names.c), 'a' in names, 'absent' in names.all, names.all.absent);
  console.log(Object.keys(stars).includes('Counter'), 'absent' in stars, String(stars.absent));
}
