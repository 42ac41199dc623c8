Promise.reject(new Error('unhandled'));
throw new Error('thrown');
export default function () { console.log('never'); }
