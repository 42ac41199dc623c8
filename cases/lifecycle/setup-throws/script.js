export function setup() { throw new Error('no setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('never either'); }
