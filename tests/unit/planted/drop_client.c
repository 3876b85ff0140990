/* Looks at an element after the callback has said that it may go. */
/* UNIT: drop_client */
#include <stdlib.h>
struct client { struct client *next; int id; };
struct server { struct client *clients; int (*leaving)(struct client *); int count; };

int drop_client(struct server *server) {
  struct client *client = server->clients;
  if (!client || !server->leaving) return 0;
  if (server->leaving(client)) {
    server->count--;
    free(client);
  }
  server->clients = client->next; /* ERROR: use-after-free answer */
  return 1;
}
