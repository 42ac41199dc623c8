export function setup() { console.log('setup'); return 7; }
export default function (data) { console.log('main', data); }
