export function setup() { return (() => { const a = {}; a.a = a; return a; })(); }
export default function () { console.log('never'); }
