export function setup() { return { a: NaN }; }
export default function () { console.log('never'); }
