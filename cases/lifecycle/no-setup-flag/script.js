export function setup() { console.log('never'); return 1; }
export default function (data) { console.log(data); }
export function teardown() { console.log('never'); }
