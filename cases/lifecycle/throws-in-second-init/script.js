if (__VU > 0) { throw new Error('in a user'); }
export default function () { console.log('never'); }
