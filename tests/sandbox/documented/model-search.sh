curl https://api.cloudflare.com/client/v4/accounts/$ACCOUNT_ID/ai/models/search \
    -H "Authorization: Bearer $CLOUDFLARE_API_TOKEN"
