Promise.reject(new Error('in init'));
export default function () { console.log('never'); }
