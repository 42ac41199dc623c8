export default function () { console.log('to a file'); console.warn('careful', { a: 1 }); }
