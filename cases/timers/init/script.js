setTimeout(() => { if (__VU === 1) console.log('in init'); }, 5);
export default function () { console.log('iteration'); }
