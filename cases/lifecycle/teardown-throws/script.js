export default function () { console.log('done'); }
export function teardown() { throw new Error('no teardown'); }
