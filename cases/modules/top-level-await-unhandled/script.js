Promise.reject(new Error('unhandled'));
await null;
throw new Error('thrown');
export default function () { console.log('never'); }
