export function setup() { throw 'just text'; }
export default function () { console.log('never'); }
