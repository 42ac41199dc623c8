setTimeout(() => console.log('timer'), 20);
await Promise.reject(new TypeError('rejected'));
export default function () { console.log('never'); }
