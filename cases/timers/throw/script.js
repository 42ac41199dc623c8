export default function () { setTimeout(() => { throw new Error('in a timer'); }, 5); setTimeout(() => console.log('another'), 30); }
