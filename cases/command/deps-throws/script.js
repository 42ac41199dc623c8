import http from 'k6/http';
throw new Error('x');
